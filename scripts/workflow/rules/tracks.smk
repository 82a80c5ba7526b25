# Tracks for genome browsers: a bigWig or bedGraph of each label, in a folder.


use rule predict_part as tracks_part with:
    wildcard_constraints:
        name=names_of("tracks"),


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
        records=lambda wildcards, output: f"{os.path.basename(output.scores)}/*",
