import { PIPELINE_INDEX } from '../../assets/recognise/pipeline-index.ts';
import { MODEL_CONFIG, readFamily } from '../../assets/recognise/read-family.ts';
import type { RemoteModel } from '../../models/remote-model.ts';

/** Returns the family of a model from its pipeline index or configuration; empty if neither names it. */
export async function familyOf(readJson: RemoteModel['readJson']): Promise<string> {
  const [index, config] = await Promise.all([readJson(PIPELINE_INDEX), readJson(MODEL_CONFIG)]);
  return readFamily(index) ?? readFamily(config) ?? '';
}
