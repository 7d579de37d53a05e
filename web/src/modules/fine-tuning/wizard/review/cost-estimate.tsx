import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { currencyChoice, showAmount } from '../../../../lib/format/currency.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { aboutDuration } from '../../../../lib/format/format-time.ts';
import { Money } from '../../../../ui/money.tsx';
import { CeilingField } from '../../parameters/ceiling-field.tsx';

type Props = {
  validation: Pick<FineTuneValidation, 'cost_estimate'>;
  ceiling: string;
  /** Error for the ceiling, after a submit. */
  ceilingProblem: string | undefined;
  onCeiling: (ceiling: string) => void;
};

/** Estimated cost and duration, the amount held, and the ceiling. */
export function CostEstimate({ validation, ceiling, ceilingProblem, onCeiling }: Props) {
  const { cost_estimate: cost } = validation;
  const otherCurrency = currencyChoice.use() === 'USD' ? 'BGL' : 'USD';
  return (
    <section className="rounded-xl bg-accent-soft px-5 py-4">
      <h3 className="font-medium text-compact text-accent-text">Cost estimate</h3>
      <p className="mt-1 flex flex-wrap items-baseline gap-x-3">
        <Money bgl={cost.quote.total} className="font-semibold text-2xl" />
        <span className="text-muted tabular-nums">
          {showAmount(cost.quote.total, otherCurrency)} · {hours(cost.duration_hours)} (
          {aboutDuration(cost.duration_hours * 3600)})
        </span>
      </p>
      {/* A single item is the total. */}
      {cost.quote.items.length > 1 && (
        <ul className="mt-3 flex flex-col gap-1 text-compact">
          {cost.quote.items.map((item) => (
            <li key={item.label} className="flex justify-between gap-4">
              <span>
                {item.label}
                <span className="text-muted tabular-nums">
                  {' '}
                  · {item.unit === 'hour' ? hours(item.quantity) : `${decimals(item.quantity)} ${item.unit}`}
                </span>
              </span>
              <Money bgl={item.amount} />
            </li>
          ))}
        </ul>
      )}
      {cost.load && <p className="mt-3 text-compact text-muted">{cost.load}</p>}
      <p className="mt-3 text-compact text-muted">
        The estimate is held when you start, and what you do not use is released. A longer run gradually holds
        more of your balance, up to the spending limit. You can cancel at any time.
      </p>
      <CeilingField
        className="mt-4 max-w-60"
        value={ceiling}
        usual={cost.ceiling}
        expected={cost.quote.total}
        error={ceilingProblem}
        onChange={onCeiling}
      />
    </section>
  );
}

/** Formats '1 hour', '0.067 hours'. */
function hours(quantity: number): string {
  return `${decimals(quantity)} ${quantity === 1 ? 'hour' : 'hours'}`;
}

/** Three decimals, or two significant digits below that. */
function decimals(quantity: number): string {
  return quantity > 0 && quantity < 0.001
    ? formatNumber(quantity, { maximumSignificantDigits: 2 })
    : formatNumber(quantity, { maximumFractionDigits: 3 });
}
