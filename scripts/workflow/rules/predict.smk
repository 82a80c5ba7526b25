# Predictions: planned by their size, scattered over jobs, gathered. A prediction of one part is not cut at all.
#
# parts/NAME/I-of-N holds what the I-th job wrote; NAME.FORMAT (tracks: the folder NAME) is byte for byte what one run writes.


localrules:
    plan_prediction,


wildcard_constraints:
    part=r"\d+",
    parts=r"\d+",
    format=r"tsv|tsv\.gz|long\.tsv|long\.tsv\.gz|npy|h5|bw|bedgraph",


def folder_of_examples(wildcards):
    task = PREDICTIONS[wildcards.name]["examples"]
    return f"{task}/examples" if task else []


def rows_file(wildcards):
    """The BED or VCF of a prediction: the configuration's, or the held-out rows of its task's examples."""
    wanted = PREDICTIONS[wildcards.name]
    if wanted["input"]:
        return place(wanted["input"])
    if wanted["examples"]:
        return []
    if wanted["models"][0] in TASKS and wanted["kind"] != "variants":
        return f"{wanted['models'][0]}/examples"
    raise WorkflowError(f"configuration, {wildcards.name}: input is missing, a BED or VCF file")


def counted_files(wildcards, input):
    """What is counted: of examples the held-out rows, and of promoters their negatives, too."""
    times = 2 if PREDICTIONS[wildcards.name]["kind"] == "promoter" and input.examples else 1
    return " ".join([rows_of(input.rows or input.examples)] * times)


def rows_of(file):
    return f"{file}/test.bed" if str(file).endswith("/examples") else str(file)


def size_words(wildcards):
    """Options of costs.py that tell how much work a row of a prediction is, and how it is cut."""
    wanted = PREDICTIONS[wildcards.name]
    strands = wanted["options"].get("reverse-complement", "average" if wanted["kind"] == "variants" else "none")
    rate = wanted.get("rate") or config["rates"].get(wanted["kind"]) or costs.RATES[wanted["kind"]] * THREADS
    words = {
        "kind": wanted["kind"],
        "passes": len(wanted["models"]) * (2 if strands == "average" else 1),
        "rate": rate,
        "tile": wanted["options"].get("tile"),
        "scan": wanted["options"].get("scan"),
        "parts": wanted["parts"] if wanted["parts"] != "auto" else None,
        "part-minutes": config["part_minutes"],
        "most": config["max_parts"],
    }
    return " ".join(filter(None, (as_option(*item) for item in words.items())))


# How many windows a prediction has, and how many jobs share them. It runs where Snakemake runs.
checkpoint plan_prediction:
    input:
        rows=rows_file,
        examples=folder_of_examples,
    output:
        "parts/{name}/plan.json",
    log:
        "logs/plan/{name}.log",
    wildcard_constraints:
        name=names_of("promoter", "chromatin", "variants", "tracks", "embeddings"),
    params:
        script=f"{WORKFLOW}/costs.py",
        files=counted_files,
        size=size_words,
    threads: 1
    shell:
        "python3 {params.script} {params.size} --input {params.files} --output {output} > {log} 2>&1"


def plan_of(name):
    with checkpoints.plan_prediction.get(name=name).output[0].open() as file:
        return json.load(file)


def all_parts(wildcards):
    count = plan_of(wildcards.name)["parts"]
    return [f"parts/{wildcards.name}/{part}-of-{count}" for part in range(1, count + 1)]


def minutes(wildcards, attempt):
    plan = plan_of(wildcards.name)
    return costs.part_minutes(plan["seconds"], plan["parts"], attempt)


def memory(wildcards, input, threads, attempt):
    sizes = [os.path.getsize(file) for file in input.models if os.path.exists(file)]
    return costs.prediction_mb(PREDICTIONS[wildcards.name]["kind"], threads, sum(sizes), attempt)


def part_words(wildcards, input, output):
    """The command of one part, but for the device, the threads and where it logs."""
    wanted = PREDICTIONS[wildcards.name]
    words = [wanted["command"], *(f"--model {folder_of(file)}" for file in input.models)]
    if input.examples:
        words.append(f"--examples {input.examples} --split test")
    else:
        words.append(f"--reference {reference_words(wanted['reference'])}")
        words.append(as_option("variants" if wanted["kind"] == "variants" else "regions", rows_of(input.rows)))
    words += [as_option(*item) for item in wanted["options"].items()]
    if int(wildcards.parts) > 1:
        words.append(f"--shard {wildcards.part}/{wildcards.parts}")
    label = "{label}" if wanted["kind"] == "tracks" else ""
    words.append(f"--output '{output}/part{label}.{wanted['format']}'")
    return " ".join(filter(None, words))


rule predict_part:
    input:
        models=lambda wildcards: [weights(model) for model in PREDICTIONS[wildcards.name]["models"]],
        reference=lambda wildcards: (
            [] if PREDICTIONS[wildcards.name]["examples"] else reference_files(PREDICTIONS[wildcards.name]["reference"])
        ),
        rows=rows_file,
        examples=folder_of_examples,
    output:
        temp(directory("parts/{name}/{part}-of-{parts}")),
    wildcard_constraints:
        name=names_of("promoter", "chromatin"),
    log:
        "logs/predict/{name}.{part}-of-{parts}.log",
    benchmark:
        "benchmarks/predict/{name}.{part}-of-{parts}.tsv"
    params:
        program=PROGRAM,
        words=part_words,
    threads: THREADS
    resources:
        gpu=GPU,
        mem_mb=memory,
        runtime=minutes,
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        "rm -rf {output}; mkdir -p {output};"
        " {params.program} {params.words} " + DEVICE + " --threads {threads} > {log} 2>&1"


# Each file of the first part names a result: part.tsv.gz becomes NAME.tsv.gz, and partLABEL.bw NAME/LABEL.bw. Of several parts
# `merge` makes one; a part that is not what its record says is removed, so that the next run of Snakemake makes it again.
GATHER = (
    "exec > {log} 2>&1; set -- {input}; mkdir -p $(dirname {params.stem}x);"
    " discard() {{ for part in {input}; do"
    '   (cd "$part" && total=$(sha256sum "$1" | cut -c 1-64) && grep -q "$total" "$1.part.json") || rm -rf "$part"; done; exit 3; }};'
    ' for path in "$1"/part*; do file=${{path##*/}}; result={params.stem}"${{file#part}}";'
    "   case $file in *.part.json) continue;; esac;"
    '   if (($# == 1)); then ln -f "$path" "$result" 2> /dev/null || cp "$path" "$result"; touch "$result";'
    '   elif [ -e "$path.part.json" ]; then'
    '     {params.program} merge "${{@/%//$file}}" --output "$result" --force || discard "$file";'
    "   fi; done;"
    " cd $(dirname {output.sums});"
    ' sha256sum {params.records} > $(basename {output.sums})'
)


rule gather:
    input:
        all_parts,
    output:
        scores="{name}.{format}",
        sums="{name}.{format}.sha256",
    wildcard_constraints:
        name=names_of("promoter", "chromatin"),
    log:
        "logs/gather/{name}.{format}.log",
    benchmark:
        "benchmarks/gather/{name}.{format}.tsv"
    params:
        program=PROGRAM,
        stem=lambda wildcards, output: str(output.scores).removesuffix("." + wildcards.format),
        records=lambda wildcards, output: os.path.basename(output.scores),
    threads: 1
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        GATHER
