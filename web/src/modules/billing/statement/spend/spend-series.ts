import type { Use } from '@bakehouse/contract/credits';
import { BGL_PER_USD, type Currency, MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import { type ChartColour, chartColour } from '../../../../ui/chart-colour.ts';

type Day = { date: string; use: Use; amount: string };

export type SpendSeries = { use: Use; label: string; color: ChartColour; values: number[] };

const labels: Record<Use, string> = {
  fine_tuning: 'Fine-tuning',
  deployment: 'Deployments',
  llm_inference: 'Chat and completions',
  image_generation: 'Pictures',
  video_generation: 'Videos',
};

const DAY_SECONDS = 86_400;

/**
 * Returns the chart's bars: one x per day (seconds, UTC midnight) without gaps, and one series per occurring
 * use. Values are in the current currency and for drawing only.
 */
export function spendSeries(
  days: readonly Day[],
  currency: Currency,
  { from, to }: { from: string; to: string },
): { x: number[]; series: SpendSeries[] } {
  const last = midnight(to);
  const first = midnight(from);
  const x = Array.from(
    { length: Math.max(1, (last - first) / DAY_SECONDS + 1) },
    (_, index) => first + index * DAY_SECONDS,
  );
  const series = (Object.keys(labels) as Use[])
    .map((use, place) => ({ use, color: chartColour(place) }))
    .filter(({ use }) => days.some((day) => day.use === use))
    .map(({ use, color }) => {
      const values = x.map(() => 0);
      for (const day of days) {
        const index = (midnight(day.date) - first) / DAY_SECONDS;
        // A day with more refunds than charges has no bar.
        if (day.use === use && index < values.length)
          values[index] = Math.max(0, toCurrency(day.amount, currency));
      }
      return { use, label: labels[use], color, values };
    });
  return { x, series };
}

function midnight(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

function toCurrency(bgl: string, currency: Currency): number {
  const amount = Number(parseBgl(bgl)) / Number(MICRO_PER_BGL);
  return currency === 'USD' ? amount / Number(BGL_PER_USD) : amount;
}
