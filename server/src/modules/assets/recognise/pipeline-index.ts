/** The file in which a Diffusers model describes its components. */
export const PIPELINE_INDEX = 'model_index.json';
