import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeCommand } from '../../server/src/engine/machine/runtime-command.ts';
import { PlainError } from '../plain-error.ts';
import { preparePython } from '../prepare/python-environment.ts';
import { root } from '../root.ts';
import type { Measured } from './measured.ts';

const models = path.join(root, 'models');
/** Pictures and captions for the figures of each model: a share is exact to about five points. */
const COUNT = 100;

const figures = z.record(z.string(), z.number());
const output = z.object({
  'starter-paris': figures,
  'starter-kontext': figures,
  /** The published shapes with random weights, where there is a GPU that holds them. */
  'paris-full-size': figures.optional(),
  'flux-kontext-full-size': figures.optional(),
});

/**
 * How well the starter image models do, on prompts, edits and seeds that were fixed beforehand and
 * never trained on; beside the untrained model (the floor) and real pictures (the ceiling).
 */
export async function measureModels(): Promise<Measured[]> {
  await preparePython('training');
  const config = readConfig(process.env);
  const { command, env } = await runtimeCommand(config);
  const work = path.join(config.cacheDir, 'training');
  await mkdir(work, { recursive: true });
  const make = path.join(models, 'make.py');
  await run(command, [make, 'fetch', '--work', work], env);
  const written = await run(command, [make, 'figures', '--work', work, '--count', String(COUNT)], env);
  return toLines(output.parse(JSON.parse(written)));
}

function toLines(measured: z.output<typeof output>): Measured[] {
  const paris = reader(measured['starter-paris']);
  const kontext = reader(measured['starter-kontext']);
  const share = (name: string) => 100 * paris(name);
  const top1 = share('top1_top5');
  return [
    {
      name: 'pictures that fit their prompt',
      unit: '%',
      ours: top1,
      reference: { what: 'untrained', value: share('untrained_top5') },
      goal: { kind: 'at least', value: 60 },
    },
    // Nearly every picture has its caption among the five nearest: what routing does to it shows
    // in the nearest one.
    {
      name: 'pictures that fit their prompt, two experts',
      unit: '%',
      ours: share('top2_top5'),
      reference: { what: 'one', value: top1 },
    },
    {
      name: 'nearest caption is the own, two experts',
      unit: '%',
      ours: share('top2_top1'),
      reference: { what: 'one', value: share('top1_top1') },
      goal: { kind: 'ratio at least', value: 1 },
    },
    {
      name: 'nearest caption is the own, all experts',
      unit: '%',
      ours: share('full_top1'),
      reference: { what: 'one', value: share('top1_top1') },
    },
    {
      name: 'with guidance 4',
      unit: '%',
      ours: top1,
      reference: { what: 'guidance 1', value: share('top1_guidance_1_top5') },
    },
    {
      name: 'real pictures, reconstructed',
      unit: '%',
      ours: share('reconstructions_top5'),
      reference: { what: 'as they are', value: share('real_pictures_top5') },
    },
    {
      name: 'told from the same caption with one thing swapped',
      unit: '%',
      ours: share('top1_swaps'),
      reference: { what: 'real pictures', value: share('real_pictures_swaps') },
    },
    {
      name: 'edits that are right',
      unit: '%',
      ours: 100 * kontext('edits_right'),
      reference: { what: 'drawn by hand, reconstructed', value: 100 * kontext('reconstructions_right') },
      goal: { kind: 'at least', value: 70 },
    },
    {
      name: 'edits that do what they say',
      unit: '%',
      ours: 100 * kontext('edits_done'),
      reference: { what: 'unedited', value: 100 * kontext('unedited_done') },
    },
    {
      name: 'pictures by Kontext that fit their prompt',
      unit: '%',
      ours: 100 * kontext('drawn_top5'),
      reference: { what: 'by Paris', value: top1 },
    },
    {
      name: 'picture of 20 steps, one expert',
      unit: 's',
      ours: paris('seconds_a_picture_top1'),
      goal: { kind: 'less than', value: 3 },
    },
    { name: 'edit of 20 steps', unit: 's', ours: kontext('seconds_an_edit') },
    { name: 'peak memory of a picture', unit: 'MB', ours: paris('peak_memory_mb') },
    { name: 'peak memory of an edit', unit: 'MB', ours: kontext('peak_memory_mb') },
    ...fullSizeLines(
      'Paris at full size, picture of 20 steps',
      'seconds_a_picture_top1',
      measured['paris-full-size'],
    ),
    ...fullSizeLines(
      'FLUX Kontext at full size, transformer steps of an edit',
      'seconds_an_edit',
      measured['flux-kontext-full-size'],
    ),
  ];
}

function fullSizeLines(
  name: string,
  seconds: string,
  measured: z.output<typeof figures> | undefined,
): Measured[] {
  if (!measured) return [];
  const read = reader(measured);
  return [
    { name, unit: 's', ours: read(seconds) },
    { name: `${name}, GPU memory`, unit: 'MB', ours: read('peak_gpu_memory_mb') },
  ];
}

function reader(measured: z.output<typeof figures>): (name: string) => number {
  return (name) => {
    const value = measured[name];
    if (value === undefined) throw new Error(`The runtime measured no ${name}`);
    return value;
  };
}

/** Runs a program and resolves to what it wrote; its messages go to our terminal. */
async function run(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [written, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new PlainError('The models could not be measured; the message is above.');
  return written;
}
