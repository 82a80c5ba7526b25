# Pictures for `snakemake --report`: curves of every training run, and which blocks attend which.

LAYERS = (0, 1)
RUNS = {
    **({"pretrained": "pretrained"} if PRETRAINING else {}),
    **{task: f"{task}/run" for task in TASKS},
}
PICTURES = [
    *(f"pictures/curves/{name}.svg" for name in RUNS),
    *(f"pictures/attention/layer-{layer}.svg" for layer in LAYERS if PRETRAINING),
]


rule plot_training:
    input:
        lambda wildcards: f"{RUNS[wildcards.run]}/model/model.safetensors",
    output:
        report(
            "pictures/curves/{run}.svg",
            caption="../report/curves.rst",
            category="Training curves",
            labels={"run": "{run}"},
        ),
    log:
        "logs/plot-training-{run}.log",
    wildcard_constraints:
        run="pretrained|promoter|chromatin",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: 1
    params:
        script=f"{REPOSITORY}/scripts/bigbird-dna-plot",
        run=lambda wildcards, input: os.path.dirname(os.path.dirname(input[0])),
    shell:
        "{params.script} training --labels {wildcards.run} --output {output} {params.run} > {log} 2>&1"


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
    log:
        "logs/show-attention-{layer}.log",
    wildcard_constraints:
        layer=r"\d+",
    conda:
        ENVIRONMENT
    container:
        CONTAINER
    threads: 1
    params:
        program=PROGRAM,
        options=options("show-attention"),
    shell:
        "{params.program} show-attention --config {input} --layer {wildcards.layer} {params.options} --output {output} > {log} 2>&1"
