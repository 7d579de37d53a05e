import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { readModelJson } from '../weights/read-model-json.ts';

/** What PEFT and Transformers call a model with a head that gives scores in place of the one for tokens. */
const TASK = 'SEQ_CLS';
const ARCHITECTURE = /ForSequenceClassification$/;

/** Whether a model scores texts and writes none, as its files say: an adapter with such a head, or a whole model with one. */
export async function isRewardModel(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { files }: Pick<AssetRevision, 'files'>,
): Promise<boolean> {
  const adapter = await readModelJson(services, files, 'adapter_config.json');
  if (adapter) return adapter.task_type === TASK;
  const config = await readModelJson(services, files, 'config.json');
  const architectures = Array.isArray(config?.architectures) ? config.architectures : [];
  return architectures.some((one) => typeof one === 'string' && ARCHITECTURE.test(one));
}

/** What is said where a model is needed that writes texts, without its full stop. Pure. */
export function scoresOnly({ title }: { title: string }): string {
  return `${title} is a reward model: it scores answers and writes none. Choose it as a reward of a fine-tune with GRPO, or use the code of its card`;
}
