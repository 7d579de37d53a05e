/** Where a model in Diffusers' format says what it is made of. */
export const PIPELINE_INDEX = 'model_index.json';
