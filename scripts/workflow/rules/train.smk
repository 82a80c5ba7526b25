# From peaks to a judged model in one job: train labels, trains, makes the floor, evaluates and writes the report.


rule train:
    input:
        reference=REFERENCE,
        peaks=lambda wildcards: files("train", wildcards.name, "peaks"),
        include=lambda wildcards: files("train", wildcards.name, "include"),
    output:
        "trained/{name}/model/config.json",
        "trained/{name}/model/model.safetensors",
        "trained/{name}/model/labels.tsv",
        figures="trained/{name}/evaluation.json",
        page=report(
            "trained/{name}/report.html",
            caption="../report/train.rst",
            category="Evaluation",
            labels={"task": "{name}"},
        ),
    log:
        "logs/train-{name}.log",
    benchmark:
        "benchmarks/train-{name}.tsv"
    wildcard_constraints:
        name=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
    resources:
        gpu=GPU,
        runtime=lambda wildcards, attempt: costs.training_minutes(
            trained_options(wildcards.name), attempt
        ),
    params:
        program=PROGRAM,
        reference=lambda wildcards: reference_words(config.get("reference")),
        include=lambda wildcards: as_option(
            "include", files("train", wildcards.name, "include") or None
        ),
        options=lambda wildcards: f"{words_of(trained_options(wildcards.name))} {HOLD_OUTS}",
        run=run_of,
    shell:
        commands.resumable("{input}")
        + "{params.program} train --peaks {input.peaks} --reference {params.reference} {params.include} {params.options} "
        + DEVICE
        + " --threads {threads} --output {params.run} > {log} 2>&1"
