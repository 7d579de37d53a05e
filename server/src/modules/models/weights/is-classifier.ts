import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { readModelJson } from './read-model-json.ts';

/** Names in PEFT and Transformers for a model that scores text instead of continuing it. */
const TASK = 'SEQ_CLS';
const ARCHITECTURE = /ForSequenceClassification$/;

/**
 * Returns whether the files describe a classifier, e.g. a reward model, which scores text and writes none.
 */
export async function isClassifier(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { files }: Pick<AssetRevision, 'files'>,
): Promise<boolean> {
  const adapter = await readModelJson(services, files, 'adapter_config.json');
  if (adapter) return adapter.task_type === TASK;
  const config = await readModelJson(services, files, 'config.json');
  const architectures = Array.isArray(config?.architectures) ? config.architectures : [];
  return architectures.some((one) => typeof one === 'string' && ARCHITECTURE.test(one));
}

/** Returns why a classifier cannot be used, without the full stop. */
export function writesNoText({ title }: { title: string }): string {
  return `${title} scores text and writes none`;
}
