# Predictions: planned by their size, scattered over jobs, gathered. A prediction of one part is not cut at all.
#
# parts/NAME/I-of-N holds what the I-th job wrote; NAME.FORMAT (tracks: the folder NAME) is byte for byte what one run writes.


localrules:
    plan_prediction,


wildcard_constraints:
    part=r"\d+",
    parts=r"\d+",
    format=r"tsv|tsv\.gz|long\.tsv|long\.tsv\.gz|npy|h5|bw|bedgraph",


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
        name=names_of(*settings.COMMANDS),
    threads: 1
    params:
        files=counted_files,
        size=size_of_rows,
    run:
        costs.write_plan(output[0], params.files, **params.size)


rule predict_part:
    input:
        models=lambda wildcards: [
            weights(model) for model in PREDICTIONS[wildcards.name]["models"]
        ],
        reference=lambda wildcards: (
            []
            if PREDICTIONS[wildcards.name]["examples"]
            else reference_files(PREDICTIONS[wildcards.name]["reference"])
        ),
        rows=rows_file,
        examples=folder_of_examples,
        plan=ancient("parts/{name}/plan.json"),
    output:
        temp(directory("parts/{name}/{part}-of-{parts}")),
    log:
        "logs/predict/{name}.{part}-of-{parts}.log",
    benchmark:
        "benchmarks/predict/{name}.{part}-of-{parts}.tsv"
    wildcard_constraints:
        name=names_of(*settings.COMMANDS),
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        gpu=GPU,
        mem_mb=memory,
        runtime=minutes,
    params:
        program=PROGRAM,
        words=part_words,
    shell:
        "rm -rf {output}; mkdir -p {output};"
        " {params.program} {params.words} "
        + DEVICE
        + " --threads {threads} > {log} 2>&1"


rule gather:
    input:
        all_parts,
    output:
        scores="{name}.{format}",
        sums="{name}.{format}.sha256",
    log:
        "logs/gather/{name}.{format}.log",
    benchmark:
        "benchmarks/gather/{name}.{format}.tsv"
    wildcard_constraints:
        name=names_of("promoter", "chromatin", "variants", "embeddings"),
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: 1
    params:
        program=PROGRAM,
        parts=glob_of_parts,
        stem=lambda wildcards, output: str(output.scores).removesuffix(
            f".{wildcards.format}"
        ),
        result=lambda wildcards, output: str(output.scores),
        records=side_files,
    shell:
        commands.GATHER


# Tracks for genome browsers: a bigWig or bedGraph of each label, in a folder.
use rule gather as gather_tracks with:
    output:
        scores=directory("{name}"),
        sums="{name}.sha256",
    log:
        "logs/gather/{name}.log",
    benchmark:
        "benchmarks/gather/{name}.tsv"
    wildcard_constraints:
        name=names_of("tracks"),
    params:
        program=PROGRAM,
        parts=glob_of_parts,
        stem=lambda wildcards, output: f"{output.scores}/",
        result=lambda wildcards, output: f"{output.scores}/{file_of_label(wildcards)}",
        records=lambda wildcards, output: f"{os.path.basename(output.scores)}/*",
