import { PIPELINE_INDEX } from '../../assets/recognise/pipeline-index.ts';
import { MODEL_CONFIG, readFamily } from '../../assets/recognise/read-family.ts';
import type { RemoteModel } from '../../models/remote-model.ts';

/** The family of a model, by its pipeline or its configuration; empty where neither tells it. */
export async function familyOf(readJson: RemoteModel['readJson']): Promise<string> {
  const [index, config] = await Promise.all([readJson(PIPELINE_INDEX), readJson(MODEL_CONFIG)]);
  return readFamily(index) ?? readFamily(config) ?? '';
}
