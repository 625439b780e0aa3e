"""What to change when a finding matters: sentences, and snippets by framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Advice:
    """What to do about a finding.

    Attributes:
        text: what to change, and why it helps.
        snippets: framework → a few lines of code.
    """

    text: str
    snippets: dict[str, str] = field(default_factory=dict)


_PARALLEL: Final = {
    "tf.data": "data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE)\n"
    "data = data.batch(64).prefetch(tf.data.AUTOTUNE)",
    "PyTorch": "loader = DataLoader(data, batch_size=64, num_workers=8, prefetch_factor=4,\n"
    "                    persistent_workers=True)",
    "Keras": "class Images(keras.utils.PyDataset):\n"
    "    def __init__(self): super().__init__(workers=8, max_queue_size=16)",
}
_PACK: Final = {
    "tf.data": "data = tf.data.TFRecordDataset(shards, buffer_size=8 << 20,\n"
    "                               num_parallel_reads=tf.data.AUTOTUNE)",
    "PyTorch": "data = webdataset.WebDataset('train-{000..063}.tar')\n"
    "data = data.decode('rgb').to_tuple('jpg', 'cls')",
}

ADVICE: Final = MappingProxyType(
    {
        "tiny-files": Advice(
            "Pack the files into a few hundred shards of 100 MB or more (TFRecord, tar, Parquet), "
            "so that one open and a few large reads serve a thousand samples. When that is not "
            "possible, read with more threads, or stage the small files on a fast tier: "
            "tensorboard-darshan stage plan says which.",
            _PACK,
        ),
        "tiny-reads": Advice(
            "Read larger pieces: a larger buffer in the reader, or a whole file at once.",
            {
                "tf.data": "data = tf.data.TFRecordDataset(files, buffer_size=8 << 20)",
                "PyTorch": "file = open(path, 'rb', buffering=8 << 20)",
            },
        ),
        "zero-byte-reads": Advice(
            "The reader asks for more until it gets nothing. That costs one call a file: little on "
            "a local disk, a round trip on a network file system. Packing samples into larger "
            "files removes it; so does reading with the size known.",
            {
                "PyTorch": "fd = os.open(path, os.O_RDONLY)\n"
                "data = os.read(fd, os.fstat(fd).st_size)  # one read, no second to find the end",
                "tf.data": _PACK["tf.data"],
            },
        ),
        "reopened-files": Advice(
            "Keep files open, or keep what was read: list and check the data set once, open shards "
            "once an epoch and read them through.",
            {
                "tf.data": "data = files.interleave(tf.data.TFRecordDataset, cycle_length=16)",
                "PyTorch": "@functools.lru_cache(maxsize=64)\n"
                "def shard(path): return h5py.File(path, 'r')",
            },
        ),
        "random-reads": Advice(
            "Shuffle the order of shards and, in memory, the samples within a buffer, rather than "
            "jumping in the file; or keep the file on storage that does not mind (NVMe, memory).",
            {
                "tf.data": "data = files.shuffle(1000).interleave(tf.data.TFRecordDataset,\n"
                "    cycle_length=16).shuffle(10_000)",
            },
        ),
        "misaligned": Advice(
            "On parallel file systems let records begin at multiples of the block size (pad, or "
            "chunk so), or read larger pieces so that the ragged ends do not matter.",
            {"h5py": "h5py.File(path, 'w', alignment_threshold=1, alignment_interval=1 << 20)"},
        ),
        "metadata-heavy": Advice(
            "Fewer opens and stats: list the files once and keep the list, do not check for "
            "existence before opening, and pack small files into shards.",
            _PACK,
        ),
        "text-by-line": Advice(
            "Read text through a buffer of megabytes, or convert it once into a binary format "
            "(TFRecord, Parquet, Arrow).",
            {
                "tf.data": "data = tf.data.TextLineDataset(files, buffer_size=8 << 20)",
                "PyTorch": "with open(path, buffering=8 << 20) as lines: ...",
            },
        ),
        "one-reader": Advice("Read several files at once, and ahead of the training.", _PARALLEL),
        "more-readers": Advice(
            "The storage suffers from so many calls at once. Try the number of readers that gave "
            "the most; docs/steering.md shows how to find it while the training runs.",
            {
                "tf.data": "data = data.map(load, num_parallel_calls=2).prefetch(tf.data.AUTOTUNE)",
                "PyTorch": "loader = DataLoader(data, num_workers=2)",
            },
        ),
        "fits-memory": Advice(
            "Keep the data set in memory after the first epoch.",
            {
                "tf.data": "data = data.map(load).cache().shuffle(10_000).batch(64).prefetch(2)",
                "PyTorch": "samples = [load(path) for path in paths]  # before the first epoch",
            },
        ),
        "rereads-storage": Advice(
            "The set does not fit into memory: cache it on a local disk, or stage the files that "
            "gain most there: tensorboard-darshan stage plan RUN --budget 100GiB --fast /local.",
            {"tf.data": "data = data.map(load).cache('/local/cache').shuffle(10_000)"},
        ),
        "cold-epoch": Advice(
            "Nothing, when a training has many epochs. For few of them: read the files once before "
            "the training needs them (vmtouch, cat files > /dev/null), or stage them."
        ),
        "slower-later": Advice(
            "See who else uses the storage at that time; a copy on a local disk is not shared "
            "(tensorboard-darshan stage). When memory ran short, make the shuffle buffer or the "
            "cache smaller."
        ),
        "validation-reads": Advice(
            "Validate on less, less often, or keep the validation set in memory.",
            {
                "Keras": "model.fit(train, validation_data=validation.cache(), validation_freq=5)",
            },
        ),
        "slow-files": Advice(
            "Look at where these files lie (another mount, another server, a failing disk, a "
            "stripe of one) and move or copy them: tensorboard-darshan stage does that."
        ),
        "slow-mount": Advice(
            "Move or stage what is read most from the slow mount: tensorboard-darshan stage plan."
        ),
        "imbalance": Advice(
            "Give each process files of the same total size, not the same number of files.",
            {"tf.data": "data = data.shard(world_size, rank)  # of samples, after mixing files"},
        ),
        "not-sharded": Advice(
            "Let each rank read its own part, before anything is read or mapped.",
            {
                "tf.data": "files = files.shard(world_size, rank)",
                "PyTorch": "sampler = DistributedSampler(data)\n"
                "loader = DataLoader(data, sampler=sampler)",
            },
        ),
        "checkpoint-stalls": Advice(
            "Save less often, save weights only, or save in the background.",
            {
                "Keras": "keras.callbacks.ModelCheckpoint(path, save_weights_only=True,\n"
                "    save_freq='epoch')",
                "PyTorch": "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)",
            },
        ),
        "small-writes": Advice(
            "Write through a buffer, and log less often.",
            {
                "PyTorch": "file = open(path, 'w', buffering=1 << 20)",
                "Keras": "keras.callbacks.TensorBoard(log_dir, update_freq=100)",
            },
        ),
        "fsync-storm": Advice(
            "Force data to the device once a checkpoint, not once a record; a database that logs "
            "metrics can commit in batches.",
            {"SQLite": "connection.execute('PRAGMA synchronous = NORMAL')"},
        ),
        "mapped-files": Advice(
            "To see these reads, open the files without a mapping for one epoch.",
            {
                "PyTorch": "numpy.load(path)  # instead of mmap_mode='r'; safetensors and\n"
                "# torch.load(mmap=True) map, too",
            },
        ),
        "incomplete": Advice("Each sentence above says what is missing and what brings it back."),
    }
)
"""Code of a finding → advice; every code has one."""
