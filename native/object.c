#include "object.h"

#include <string.h>
#include <unistd.h>

static uintptr_t in_object(const struct object *object, ElfW(Addr) address)
{
    /* glibc has made these absolute already, other loaders have not */
    return address < object->base ? address + object->base : address;
}

bool object_describe(const struct dl_phdr_info *info, struct object *object)
{
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    memset(object, 0, sizeof(*object));
    object->name = info->dlpi_name;
    object->base = info->dlpi_addr;
    object->start = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        if (header->p_type == PT_LOAD) {
            object->start = start < object->start ? start : object->start;
            object->end = end > object->end ? end : object->end;
        } else if (header->p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)start;
        } else if (header->p_type == PT_GNU_RELRO) {
            object->relro_start = start & ~(page - 1);
            object->relro_end = end & ~(page - 1);
        }
    }
    if (dynamic == NULL)
        return false;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        uintptr_t address = in_object(object, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB: object->symbols = (const void *)address; break;
        case DT_STRTAB: object->strings = (const void *)address; break;
        case DT_RELA: object->relocations = (const void *)address; break;
        case DT_RELASZ: object->n_relocations = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELACOUNT: object->n_relative = dynamic->d_un.d_val; break;
        case DT_JMPREL: object->jumps = (const void *)address; break;
        case DT_PLTRELSZ: object->n_jumps = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
    return object->symbols != NULL && object->strings != NULL;
}
