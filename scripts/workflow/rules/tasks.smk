# Labelled examples, fine-tuned models, baselines and their evaluation, for promoters and chromatin.


wildcard_constraints:
    task="promoter|chromatin",


rule build_promoters:
    input:
        reference=REFERENCE,
        tss=files("promoter", "tss"),
        chain=files("promoter", "chain"),
    output:
        directory("promoter/examples"),
    log:
        "logs/build-promoters.log",
    benchmark:
        "benchmarks/build-promoters.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    params:
        program=PROGRAM,
        reference=lambda wildcards: reference_words(config.get("reference")),
        chain=as_option("chain", files("promoter", "chain") or None),
        options=f'{options("build-promoters")} {HOLD_OUTS}',
    shell:
        "{params.program} build-promoters --reference {params.reference} --tss {input.tss} {params.chain} {params.options}"
        " --threads {threads} --output {output} > {log} 2>&1"


rule build_chromatin:
    input:
        reference=REFERENCE,
        peaks=files("chromatin", "peaks"),
        include=files("chromatin", "include"),
    output:
        directory("chromatin/examples"),
    log:
        "logs/build-chromatin.log",
    benchmark:
        "benchmarks/build-chromatin.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    params:
        program=PROGRAM,
        reference=lambda wildcards: reference_words(config.get("reference")),
        include=as_option("include", files("chromatin", "include") or None),
        options=f'{options("build-chromatin")} {HOLD_OUTS}',
    shell:
        "{params.program} build-chromatin --reference {params.reference} --peaks {input.peaks} {params.include} {params.options}"
        " --threads {threads} --output {output} > {log} 2>&1"


rule finetune:
    input:
        examples="{task}/examples",
        model=pretrained_for,
    output:
        "{task}/run/model/config.json",
        "{task}/run/model/model.safetensors",
        "{task}/run/model/labels.tsv",
    log:
        "logs/finetune-{task}.log",
    benchmark:
        "benchmarks/finetune-{task}.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, attempt: costs.pretraining_mb(
            config["options"].get("pretrain", {}).get("config", "base"), attempt
        ),
        runtime=lambda wildcards, attempt: costs.training_minutes(
            config["options"].get(f"finetune-{wildcards.task}", {}), attempt
        ),
    params:
        program=PROGRAM,
        options=lambda wildcards: options(f"finetune-{wildcards.task}"),
        model=lambda wildcards, input: (
            f"--model {folder_of(input.model)}" if input.model else ""
        ),
        run=run_of,
    shell:
        commands.resumable("{input.examples}/manifest.json {input.model}")
        + "{params.program} finetune-{wildcards.task} --examples {input.examples} {params.model} {params.options} "
        + DEVICE
        + " --threads {threads} --output {params.run} > {log} 2>&1"


# Linear models and small networks that start from nothing.
use rule finetune as baseline with:
    input:
        examples="{task}/examples",
        model=[],
    output:
        "{task}/baselines/{baseline}/run/model/config.json",
        "{task}/baselines/{baseline}/run/model/model.safetensors",
        "{task}/baselines/{baseline}/run/model/labels.tsv",
    log:
        "logs/baseline-{task}-{baseline}.log",
    benchmark:
        "benchmarks/baseline-{task}-{baseline}.tsv"
    wildcard_constraints:
        baseline="cnnprom|deepromoter|deepsea|gkm-svm|kmer-ridge",
    resources:
        gpu=GPU,
    params:
        program=PROGRAM,
        options=lambda wildcards: words_of(
            {
                "seed": config["seed"],
                "architecture": wildcards.baseline,
                **(config[wildcards.task]["baselines"][wildcards.baseline] or {}),
            }
        ),
        model="",
        run=run_of,


rule evaluate:
    input:
        scores="{task}/held_out.tsv.gz",
        baselines=lambda wildcards: [
            f"{wildcards.task}/baselines/{name}/held_out.tsv.gz"
            for name in baselines_of(wildcards.task)
        ],
        examples="{task}/examples",
    output:
        page=report(
            "{task}/evaluation.html",
            caption="../report/evaluation.rst",
            category="Evaluation",
            labels={"task": "{task}"},
        ),
        figures="{task}/evaluation.json",
        table="{task}/evaluation.tsv",
    log:
        "logs/evaluate-{task}.log",
    benchmark:
        "benchmarks/evaluate-{task}.tsv"
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    params:
        program=PROGRAM,
        scores=scores_words,
        options=lambda wildcards: options(f"evaluate-{wildcards.task}"),
    shell:
        "{params.program} evaluate-{wildcards.task} {params.scores} --examples {input.examples} {params.options}"
        " --threads {threads} --output {output.figures} {output.table} {output.page} > {log} 2>&1"
