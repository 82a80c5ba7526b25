# Pictures for `snakemake --report`: curves of every training run, and which blocks attend which.

LAYERS = (0, 1)
RUNS = [*(["pretrained"] if PRETRAINING else []), *(f"{task}/run" for task in TASKS)]
PICTURES = [
    *(f"pictures/curves/{run.removesuffix('/run')}.svg" for run in RUNS),
    *(f"pictures/attention/layer-{layer}.svg" for layer in LAYERS if PRETRAINING),
]


rule plot_training:
    input:
        lambda wildcards: f"{run_folder(wildcards.run)}/model/model.safetensors",
    output:
        report(
            "pictures/curves/{run}.svg",
            caption="../report/curves.rst",
            category="Training curves",
            labels={"run": "{run}"},
        ),
    wildcard_constraints:
        run="pretrained|promoter|chromatin",
    log:
        "logs/plot-training-{run}.log",
    params:
        script=f"{REPOSITORY}/scripts/plot-training",
        run=lambda wildcards, input: os.path.dirname(os.path.dirname(input[0])),
    threads: 1
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        "{params.script} --labels {wildcards.run} --output {output} {params.run} > {log} 2>&1"


def run_folder(run):
    return run if run == "pretrained" else f"{run}/run"


rule show_attention:
    input:
        "pretrained/model/config.json",
    output:
        report(
            "pictures/attention/layer-{layer}.svg",
            caption="../report/attention.rst",
            category="Attention",
            labels={"layer": "{layer}"},
        ),
    wildcard_constraints:
        layer=r"\d+",
    log:
        "logs/show-attention-{layer}.log",
    params:
        program=PROGRAM,
        options=options("show-attention"),
    threads: 1
    container:
        CONTAINER
    conda:
        ENVIRONMENT
    shell:
        "{params.program} show-attention --config {input} --layer {wildcards.layer} {params.options} --output {output} > {log} 2>&1"
