// C++ streams: libstdc++ opens with fopen and reads and writes the descriptor behind it.
#include <fstream>
#include <string>

extern "C" long write_stream(const char *path, long lines)
{
    std::ofstream out(path);
    for (long i = 0; i < lines; i++)
        out << "line " << 1000 + i << "\n";
    out << std::string(20000, 'x') << std::flush;
    return static_cast<long>(out.tellp());
}

extern "C" long read_stream(const char *path)
{
    std::ifstream in(path, std::ios::binary);
    std::string all, part(3000, '\0');
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount())
        all.append(part, 0, static_cast<std::size_t>(in.gcount()));
    return static_cast<long>(all.size());
}

extern "C" long update_stream(const char *path)
{
    std::fstream both(path, std::ios::in | std::ios::out);
    both.seekp(10);
    both << "ABC";
    both.seekg(0);
    std::string word;
    both >> word;
    return both.good() ? static_cast<long>(word.size()) : -1;
}
