#!/bin/bash -eu
# Makes a program and a corpus of each target of run.py. OSS-Fuzz runs it, with its compiler and flags in the environment.
fuzz=$SRC/fastir/tests/fuzz

# -g keeps what a sanitizer's report needs; two copies of an OpenMP runtime would not live in one program.
CFLAGS="${CFLAGS:-} -g" FASTIR_OPENMP=off python3 -m pip install "$SRC/fastir" pyarrow

cd "$WORK" # not in the checkout, whose fastir/ is not built
for name in $(PYTHONPATH="$fuzz" python3 -c 'import run; print(*run.NAMES)'); do
    cp "$fuzz/oss-fuzz/target.py" "fuzz_$name.py"
    compile_python_fuzzer "fuzz_$name.py" --collect-submodules fastir --paths "$fuzz" --paths "$SRC/fastir/tests/support"
    if [ -d "$fuzz/corpus/$name" ]; then
        zip -jqr "$OUT/fuzz_${name}_seed_corpus.zip" "$fuzz/corpus/$name"
    fi
done
