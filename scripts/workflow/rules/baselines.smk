# What stands beside a task's model: linear models and small networks that start from nothing.


rule baseline:
    input:
        examples="{task}/examples",
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
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: THREADS
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
        run=run_of,
    shell:
        commands.resumable("{input.examples}/manifest.json")
        + "{params.program} finetune-{wildcards.task} --examples {input.examples} {params.options} "
        + DEVICE
        + " --threads {threads} --resume auto --output {params.run} > {log} 2>&1"
