# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""baseline.py MODEL.onnx RESULT.json: inferences per second and latency of ONNX
Runtime at batch 1, with one thread and with all."""
import json
import os
import platform
import statistics
import sys
import time

REPEATS, WARM_UP, SECONDS = 2000, 20, 3.0


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def inputs_of(session, numpy):
    """Ones in the shape of every input; open dimensions are 1."""
    kinds = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64,
             "tensor(int8)": numpy.int8, "tensor(uint8)": numpy.uint8,
             "tensor(int32)": numpy.int32, "tensor(int64)": numpy.int64}
    return {i.name: numpy.ones([d if isinstance(d, int) and d > 0 else 1
                                for d in i.shape], kinds[i.type])
            for i in session.get_inputs()}


def measure(model, threads):
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    feed = inputs_of(session, numpy)
    for _ in range(WARM_UP):
        session.run(None, feed)
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < REPEATS and time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    latency = statistics.median(times)
    return {"threads": threads, "latency_us": latency * 1e6,
            "throughput_per_s": 1 / latency, "repeats": len(times)}


def main():
    try:
        import onnxruntime
    except ImportError:
        sys.exit("this Python has no onnxruntime: pip install onnxruntime, or "
                 "let RHIZOME_PYTHON name one that has")
    model, target = sys.argv[1:]
    counts = sorted({1, len(os.sched_getaffinity(0))})
    runs = [measure(model, threads) for threads in counts]
    with open(target + ".new", "w", encoding="utf-8") as out:
        json.dump({"runtime": f"ONNX Runtime {onnxruntime.__version__}",
                   "cpu": cpu_name(), "batch": 1,
                   "repeats": min(run["repeats"] for run in runs),
                   "runs": runs}, out, indent=2)
        out.write("\n")
    os.replace(target + ".new", target)


if __name__ == "__main__":
    main()
