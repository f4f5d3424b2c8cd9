//! The ops of ai.onnx.ml, written by `tests/oracle/onnx_ops.py` from the schemas of onnx 1.23.2.

pub(super) const ROWS: &str = r#"
ArrayFeatureExtractor 1 | X Y -> Z
Binarizer 1 | X -> Y | threshold: float = 0.0
CastMap 1 | X -> Y | cast_to: string = "TO_FLOAT"; map_form: string = "DENSE"; max_map: int = 1
CategoryMapper 1 | X -> Y | cats_int64s: ints?; cats_strings: strings?; default_int64: int = -1; default_string: string = "_Unused"
DictVectorizer 1 | X -> Y | int64_vocabulary: ints?; string_vocabulary: strings?
FeatureVectorizer 1 | X+ -> Y | inputdimensions: ints?
Imputer 1 | X -> Y | imputed_value_floats: floats?; imputed_value_int64s: ints?; replaced_value_float: float = 0.0; replaced_value_int64:
    int = 0
LabelEncoder 1 | X -> Y | classes_strings: strings?; default_int64: int = -1; default_string: string = "_Unused"
LabelEncoder 2 | X -> Y | default_float: float = -0.0; default_int64: int = -1; default_string: string = "_Unused"; keys_floats: floats?;
    keys_int64s: ints?; keys_strings: strings?; values_floats: floats?; values_int64s: ints?; values_strings: strings?
LabelEncoder 4 | X -> Y | default_float: float = -0.0; default_int64: int = -1; default_string: string = "_Unused"; default_tensor: tensor?;
    keys_floats: floats?; keys_int64s: ints?; keys_strings: strings?; keys_tensor: tensor?; values_floats: floats?; values_int64s: ints?;
    values_strings: strings?; values_tensor: tensor?
LinearClassifier 1 | X -> Y Z | classlabels_ints: ints?; classlabels_strings: strings?; coefficients: floats; intercepts: floats?;
    multi_class: int = 0; post_transform: string = "NONE"
LinearRegressor 1 | X -> Y | coefficients: floats?; intercepts: floats?; post_transform: string = "NONE"; targets: int = 1
Normalizer 1 | X -> Y | norm: string = "MAX"
OneHotEncoder 1 | X -> Y | cats_int64s: ints?; cats_strings: strings?; zeros: int = 1
SVMClassifier 1 | X -> Y Z | classlabels_ints: ints?; classlabels_strings: strings?; coefficients: floats?; kernel_params: floats?;
    kernel_type: string = "LINEAR"; post_transform: string = "NONE"; prob_a: floats?; prob_b: floats?; rho: floats?; support_vectors:
    floats?; vectors_per_class: ints?
SVMRegressor 1 | X -> Y | coefficients: floats?; kernel_params: floats?; kernel_type: string = "LINEAR"; n_supports: int = 0; one_class: int
    = 0; post_transform: string = "NONE"; rho: floats?; support_vectors: floats?
Scaler 1 | X -> Y | offset: floats?; scale: floats?
TreeEnsemble 5 | X -> Y | aggregate_function: int = 1; leaf_targetids: ints; leaf_weights: tensor; membership_values: tensor?; n_targets:
    int?; nodes_falseleafs: ints; nodes_falsenodeids: ints; nodes_featureids: ints; nodes_hitrates: tensor?;
    nodes_missing_value_tracks_true: ints?; nodes_modes: tensor; nodes_splits: tensor; nodes_trueleafs: ints; nodes_truenodeids: ints;
    post_transform: int = 0; tree_roots: ints
TreeEnsembleClassifier 1 | X -> Y Z | base_values: floats?; class_ids: ints?; class_nodeids: ints?; class_treeids: ints?; class_weights:
    floats?; classlabels_int64s: ints?; classlabels_strings: strings?; nodes_falsenodeids: ints?; nodes_featureids: ints?; nodes_hitrates:
    floats?; nodes_missing_value_tracks_true: ints?; nodes_modes: strings?; nodes_nodeids: ints?; nodes_treeids: ints?; nodes_truenodeids:
    ints?; nodes_values: floats?; post_transform: string = "NONE"
TreeEnsembleClassifier 3 | X -> Y Z | base_values: floats?; base_values_as_tensor: tensor?; class_ids: ints?; class_nodeids: ints?;
    class_treeids: ints?; class_weights: floats?; class_weights_as_tensor: tensor?; classlabels_int64s: ints?; classlabels_strings:
    strings?; nodes_falsenodeids: ints?; nodes_featureids: ints?; nodes_hitrates: floats?; nodes_hitrates_as_tensor: tensor?;
    nodes_missing_value_tracks_true: ints?; nodes_modes: strings?; nodes_nodeids: ints?; nodes_treeids: ints?; nodes_truenodeids: ints?;
    nodes_values: floats?; nodes_values_as_tensor: tensor?; post_transform: string = "NONE"
TreeEnsembleClassifier 5 | deprecated
TreeEnsembleRegressor 1 | X -> Y | aggregate_function: string = "SUM"; base_values: floats?; n_targets: int?; nodes_falsenodeids: ints?;
    nodes_featureids: ints?; nodes_hitrates: floats?; nodes_missing_value_tracks_true: ints?; nodes_modes: strings?; nodes_nodeids: ints?;
    nodes_treeids: ints?; nodes_truenodeids: ints?; nodes_values: floats?; post_transform: string = "NONE"; target_ids: ints?;
    target_nodeids: ints?; target_treeids: ints?; target_weights: floats?
TreeEnsembleRegressor 3 | X -> Y | aggregate_function: string = "SUM"; base_values: floats?; base_values_as_tensor: tensor?; n_targets:
    int?; nodes_falsenodeids: ints?; nodes_featureids: ints?; nodes_hitrates: floats?; nodes_hitrates_as_tensor: tensor?;
    nodes_missing_value_tracks_true: ints?; nodes_modes: strings?; nodes_nodeids: ints?; nodes_treeids: ints?; nodes_truenodeids: ints?;
    nodes_values: floats?; nodes_values_as_tensor: tensor?; post_transform: string = "NONE"; target_ids: ints?; target_nodeids: ints?;
    target_treeids: ints?; target_weights: floats?; target_weights_as_tensor: tensor?
TreeEnsembleRegressor 5 | deprecated
ZipMap 1 | X -> Z | classlabels_int64s: ints?; classlabels_strings: strings?
"#;
