import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { readConfig } from '../../server/src/config.ts';
import { runtimeCommand } from '../../server/src/engine/host/runtime-command.ts';
import { PlainError } from '../plain-error.ts';
import { preparePython } from '../prepare/python-environment.ts';
import { root } from '../root.ts';
import type { Measured } from './measured.ts';

const models = path.join(root, 'models');
const figures = z.record(z.string(), z.number());
const output = z.object({
  'starter-paris': figures,
  'starter-kontext': figures,
  /** Models with the published shapes and random weights. Only if a GPU is large enough for them. */
  'paris-full-size': figures.optional(),
  'flux-kontext-full-size': figures.optional(),
});

/**
 * Measures the quality of the starter image models on fixed prompts, edits and seeds, which were never used
 * for training or for choosing a model. Compares it with two others: real images that were encoded and
 * decoded (upper bound), and plain ellipses with the places and colours of the objects (which must fail).
 */
export async function measureModels(): Promise<Measured[]> {
  await preparePython('training');
  const config = readConfig(process.env);
  const { command, env } = await runtimeCommand(config);
  const work = path.join(config.cacheDir, 'training');
  await mkdir(work, { recursive: true });
  const make = path.join(models, 'make.py');
  await run(command, [make, 'fetch', '--work', work], env);
  const written = await run(command, [make, 'figures', '--work', work], env);
  return toLines(output.parse(JSON.parse(written)));
}

function toLines(measured: z.output<typeof output>): Measured[] {
  const paris = reader(measured['starter-paris']);
  const kontext = reader(measured['starter-kontext']);
  const share = (name: string) => 100 * paris(name);
  const ceiling = { what: 'reconstructed real ones', value: share('reconstructions_object_top1') };
  const known = share('top1_object_top1');
  return [
    {
      name: 'pictures whose object is known among a hundred',
      unit: '%',
      ours: known,
      reference: ceiling,
      goal: { kind: 'ratio at least', value: 0.85 },
    },
    // Negative control: if ellipses pass, the measurement does not detect objects.
    {
      name: 'ellipses whose object is known among a hundred',
      unit: '%',
      ours: share('ellipses_object_top1'),
      reference: ceiling,
      goal: { kind: 'less than', value: 20 },
    },
    {
      name: 'nearest caption of all is the own',
      unit: '%',
      ours: share('top1_caption_top1'),
      reference: { what: 'reconstructed real ones', value: share('reconstructions_caption_top1') },
    },
    {
      name: 'detail, of that of reconstructions',
      unit: '%',
      ours: share('top1_detail'),
      goal: { kind: 'at least', value: 80 },
    },
    {
      name: 'distance to reconstructions (KID)',
      unit: '',
      ours: paris('top1_kid'),
      reference: { what: 'ellipses', value: paris('ellipses_kid') },
    },
    // Ablations: the same images without routing, and without experts.
    ...[
      { what: 'random routing', row: 'random_routing' },
      { what: 'one expert alone', row: 'expert_0' },
      { what: 'their base alone', row: 'base' },
    ].map(({ what, row }) => ({
      name: `object known, against ${what}`,
      unit: '%',
      ours: known,
      reference: { what, value: share(`${row}_object_top1`) },
    })),
    {
      name: 'object known, two experts a step',
      unit: '%',
      ours: share('top2_object_top1'),
      reference: { what: 'one', value: known },
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
    // Negative control: images that were not edited.
    {
      name: 'unedited pictures that count as right',
      unit: '%',
      ours: 100 * kontext('unedited_right'),
      goal: { kind: 'less than', value: 5 },
    },
    {
      name: 'edits that do what they say',
      unit: '%',
      ours: 100 * kontext('edits_done'),
      reference: { what: 'unedited', value: 100 * kontext('unedited_done') },
    },
    {
      name: 'object known, drawn by Kontext',
      unit: '%',
      ours: 100 * kontext('drawn_object_top1'),
      reference: { what: 'by Paris', value: known },
    },
    {
      name: 'picture of 20 steps, one expert',
      unit: 's',
      ours: paris('seconds_a_picture_top1'),
      goal: { kind: 'less than', value: 3 },
    },
    {
      name: 'edit of 20 steps',
      unit: 's',
      ours: kontext('seconds_an_edit'),
      goal: { kind: 'less than', value: 5 },
    },
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

/** Runs a program and returns its output. Its messages go to our terminal. */
async function run(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [written, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new PlainError('The models could not be measured; see the output above.');
  return written;
}
