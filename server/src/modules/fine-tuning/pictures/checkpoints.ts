import type { TrainFluxSpec } from '@bakehouse/contract/runtime/train-image-spec';
import type { Workload } from '../../../engine/model/workload.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteOldCheckpoints } from './checkpoint-queries.ts';

/** An unfinished run can be resumed for as long. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Deletes the LoRAs of old checkpoints once a day. Models made from them are not deleted. */
export const deleteOldCheckpointsJob = defineJob({
  name: 'training.forget-checkpoints',
  schedule: '47 3 * * *',
  run: ({ db, clock }) => deleteOldCheckpoints(db, new Date(clock.now().getTime() - KEPT_MS)),
});

type Of = Pick<
  TrainFluxSpec,
  'base_model_title' | 'dataset_title' | 'data' | 'lora' | 'sources' | 'sample_prompts'
> & { title: string; step: number };

/**
 * Returns the model card of a model made from a checkpoint. It matches the card of a run's result, which the
 * runtime writes (card.py, run.py).
 */
export function checkpointCard({ title, step, sources, ...of }: Of): string {
  const word = of.data.trigger_word;
  const metadata = {
    license: sources?.license,
    license_name: sources?.license_name,
    license_link: sources?.license_link,
    base_model: sources?.base_model,
    datasets: sources?.dataset && [sources.dataset],
    library_name: 'diffusers',
    tags: ['flux', 'lora', 'text-to-image', 'bakehouse'],
    instance_prompt: word,
  };
  const present = Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined);
  return [
    '---',
    ...present.map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    '---',
    `# ${title}`,
    '',
    `A LoRA adapter of rank ${of.lora?.r} for ${of.base_model_title}, after step ${step} of its training on ${of.dataset_title}.`,
    '',
    ...(word ? [`Write \`${word}\` into the prompt to activate it.`, ''] : []),
    ...(of.sample_prompts.length > 0 ? beforeAndAfter(of.sample_prompts) : []),
  ].join('\n');
}

function beforeAndAfter(prompts: Of['sample_prompts']): string[] {
  return [
    '## Before and after',
    '',
    '| prompt | seed | before | after |',
    '|---|---|---|---|',
    ...prompts.map(({ prompt, seed }, index) => {
      const file = `${index + 1}.png`;
      return `| ${cell(prompt)} | ${seed} | ![before](samples/before/${file}) | ![after](samples/after/${file}) |`;
    }),
    '',
  ];
}

/** Escapes user text for a cell of a Markdown table. */
function cell(text: string): string {
  return text
    .split(/\s+/)
    .join(' ')
    .replace(/[\\`*_{}[\]<>()#!|~]/g, '\\$&');
}

/** True if the checkpoint is the result of a completed run. */
export function isResult(
  { state, stepsTotal }: Pick<Workload, 'state' | 'stepsTotal'>,
  step: number,
): boolean {
  return state === 'completed' && step === stepsTotal;
}
