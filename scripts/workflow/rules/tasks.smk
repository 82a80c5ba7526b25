# Labelled examples, fine-tuned models and their evaluation, for promoters and chromatin.


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
    params:
        program=PROGRAM,
        reference=reference_words(config.get("reference")),
        chain=as_option("chain", files("promoter", "chain") or None),
        options=f'{options("build-promoters")} {HOLD_OUTS}',
    threads: THREADS
    container:
        CONTAINER
    conda:
        ENVIRONMENT
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
    params:
        program=PROGRAM,
        reference=reference_words(config.get("reference")),
        include=as_option("include", files("chromatin", "include") or None),
        options=f'{options("build-chromatin")} {HOLD_OUTS}',
    threads: THREADS
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        "{params.program} build-chromatin --reference {params.reference} --peaks {input.peaks} {params.include} {params.options}"
        " --threads {threads} --output {output} > {log} 2>&1"


def pretrained_for(wildcards):
    """The pretrained model's weights; none for an architecture that starts from nothing, such as bigbird-bins."""
    chosen = (config["options"].get(f"finetune-{wildcards.task}") or {}).get("architecture", "bigbird")
    return weights("pretrained") if chosen == "bigbird" else []


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
    params:
        program=PROGRAM,
        options=lambda wildcards: options(f"finetune-{wildcards.task}"),
        model=lambda wildcards, input: (
            f"--model {folder_of(input.model)}" if input.model else ""
        ),
        run=run_of,
    threads: THREADS
    resources:
        gpu=GPU,
        mem_mb=lambda wildcards, attempt: costs.pretraining_mb(
            (config["options"].get("pretrain") or {}).get("config", "base"), attempt
        ),
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        resumable("{input.examples}/manifest.json {input.model}")
        + "{params.program} finetune-{wildcards.task} --examples {input.examples} {params.model} {params.options} "
        + DEVICE + " --threads {threads} --resume auto --output {params.run} > {log} 2>&1"


def baselines_of(task):
    return list(config[task].get("baselines") or {}) if task in config else []


def scores_words(wildcards, input):
    """A task's scores beside those of its baselines, of which the first is what the others are compared with."""
    names = [*baselines_of(wildcards.task), "model"]
    files = [*input.baselines, input.scores]
    return " ".join(
        f"--scores {name}={file}" if len(names) > 1 else f"--scores {file}"
        for name, file in zip(names, files)
    )


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
    params:
        program=PROGRAM,
        scores=scores_words,
        options=lambda wildcards: options(f"evaluate-{wildcards.task}"),
    threads: THREADS
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        "{params.program} evaluate-{wildcards.task} {params.scores} --examples {input.examples} {params.options}"
        " --threads {threads} --output {output.figures} {output.table} {output.page} > {log} 2>&1"
