import { measureChat } from './bench/chat.ts';
import { measureClone } from './bench/clone.ts';
import { measureCluster } from './bench/cluster.ts';
import { measureData } from './bench/data.ts';
import { measureLighthouse } from './bench/lighthouse.ts';
import { isRight, type Measured, result, verdict } from './bench/measured.ts';
import { measureModels } from './bench/models.ts';
import { measureNeighbours } from './bench/neighbours/neighbours.ts';
import { measurePage } from './bench/page.ts';
import { measurePictures } from './bench/pictures.ts';
import { measureScale } from './bench/scale.ts';
import { measureStore } from './bench/store.ts';
import { measureTraining } from './bench/training/training.ts';
import { measureTransfers } from './bench/transfers.ts';
import { measureUpload } from './bench/upload.ts';
import { measureVideos } from './bench/videos.ts';
import type { Command } from './command.ts';
import { PlainError } from './plain-error.ts';

/** The measurements by name. Slow ones call `tell` with each line as soon as it is measured. */
const measures: Record<string, (tell: (line: Measured) => void) => Promise<Measured[]>> = {
  upload: measureUpload,
  store: measureStore,
  clone: measureClone,
  transfers: measureTransfers,
  data: measureData,
  chat: measureChat,
  training: measureTraining,
  neighbours: measureNeighbours,
  page: measurePage,
  pictures: measurePictures,
  videos: measureVideos,
  lighthouse: measureLighthouse,
  cluster: measureCluster,
};
/** Only run if named: lighthouse downloads 185 MB, and cluster builds programs for ten minutes. */
const onlyByName = ['lighthouse', 'cluster'];

/**
 * Compares this product with what the machine itself, or the best known program, achieves within the same
 * minutes. Each comparison has its own server. Prints the ratios. Fails if a line misses its goal, or if a
 * negative control meets it.
 */
export const bench: Command = async ({ words, models, scale, fraction }) => {
  const unknown = words.find((word) => !(word in measures));
  if (unknown)
    throw new PlainError(
      `Unknown measure '${unknown}'; the measures are ${Object.keys(measures).join(', ')}.`,
    );
  const chosen = Object.entries(measures).filter(
    ([name]) =>
      words.includes(name) || (words.length === 0 && !models && !scale && !onlyByName.includes(name)),
  );
  // Only if requested, because it generates hundreds of images.
  if (models) chosen.push(['models', measureModels]);
  // Only if requested, because it inserts ten million rows.
  if (scale) chosen.push(['scale', () => measureScale(fraction)]);
  let isAllRight = true;
  for (const [name, measure] of chosen) {
    console.error(`Measuring ${name} ...`);
    try {
      const lines = await measure((line) => console.error(`  ${cellsOf(line).filter(Boolean).join(', ')}`));
      print(lines);
      isAllRight &&= lines.every(isRight);
    } catch (error) {
      // Log the error and continue with the other measurements.
      console.error(`${name} could not be measured:`, error);
      isAllRight = false;
    }
  }
  return isAllRight ? 0 : 1;
};

function print(all: Measured[]): void {
  const lines = all.map(cellsOf);
  const table = [['measure', 'Bakehouse', 'reference', 'result', 'goal', '', ''], ...lines];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of table)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

/** Formats a number with three significant digits. */
function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function cellsOf(measured: Measured): string[] {
  const { name, ours, unit, reference, goal, cause } = measured;
  const isRatio = goal?.kind.startsWith('ratio') ?? false;
  const more = goal?.kind === 'ratio at most' && goal.orMoreBy ? ` or ${goal.orMoreBy} ${unit} more` : '';
  return [
    name,
    `${short(ours)} ${unit}`,
    reference ? `${short(reference.value)} ${unit} ${reference.what}` : '',
    isRatio ? short(result(measured)) : `${short(result(measured))} ${unit}`,
    goal
      ? isRatio
        ? `${goal.kind.replace('ratio ', '')} ${goal.value}${more}`
        : `${goal.kind} ${goal.value} ${unit}`
      : '',
    verdict(measured),
    isRight(measured) ? '' : (cause ?? ''),
  ];
}
