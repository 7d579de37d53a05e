import type { transactionSummary } from '@bakehouse/contract/credits';
import type * as z from 'zod';
import { cx } from '../../../lib/cx.ts';
import { Figure } from '../../../ui/figure.tsx';
import { Money } from '../../../ui/money.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';

type Summary = z.infer<typeof transactionSummary>;

const labels: [keyof Summary, string][] = [
  ['total_cost_video_generations', 'Videos'],
  ['total_cost_image_generations', 'Pictures'],
  ['total_cost_fine_tuning', 'Fine-tuning'],
  ['total_cost_llm_inference', 'Chat and completions'],
  ['other_costs', 'Deployments'],
  ['total_token_transferred', 'Sent to others'],
];

type Props = {
  /** Undefined while loading (renders placeholders); null if there are no totals. */
  summary: Summary | null | undefined;
  /** True if the summary could not be loaded. */
  failed: boolean;
  narrow?: boolean;
};

/** Spending of a period by use, and the amount sent to others. */
export function PeriodTotals({ summary, failed, narrow = false }: Props) {
  if (summary === null || (!summary && failed)) return null;
  return (
    <dl
      aria-label="Totals of the period"
      className={cx(
        'grid grid-cols-2 gap-x-6 gap-y-3 border-line border-b px-5 py-3.5 sm:grid-cols-3',
        !narrow && 'xl:grid-cols-6',
      )}
    >
      {labels.map(([name, label]) => (
        <Figure key={name} label={label}>
          {summary ? <Money bgl={summary[name]} /> : <Skeleton className="my-1 h-4 w-16" />}
        </Figure>
      ))}
    </dl>
  );
}
