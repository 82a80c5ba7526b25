# What each allele of a VCF does to a model's scores.


use rule predict_part as variants_part with:
    wildcard_constraints:
        name=names_of("variants"),


use rule gather as gather_variants with:
    wildcard_constraints:
        name=names_of("variants"),
