/** What the Create Model wizard begins with; of a dataset also one of its files. */
export type ModelPreset = {
  dataset?: string | undefined;
  dataFile?: string | undefined;
  baseModel?: string | undefined;
  modelType?: 'finetune' | undefined;
};
