import { isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showApart, showLimit } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';

type Props = {
  /** In BGL; empty for the default. Invalid text is kept as typed. */
  value: string;
  /** The default ceiling, in BGL. */
  usual: string;
  /** Expected cost of the run, in BGL; a lower ceiling shows a warning. */
  expected?: string;
  /** The run is being resumed: a typed ceiling stops it. */
  resumes?: boolean;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** The maximum cost of a run, typed in the display currency. */
export function CeilingField({ usual, expected = '0', resumes = false, ...field }: Props) {
  const currency = currencyChoice.use();
  const isTooLow = isPositiveBgl(field.value) && parseBgl(field.value) < parseBgl(expected);
  return (
    <AmountField
      label="Spending limit"
      placeholder={showLimit(usual, currency)}
      help={
        isTooLow ? (
          <span role="status" className="text-warn">
            This is less than the {showApart(expected, field.value, currency)[0]} that the run is expected to
            cost. It will probably save its work and stop before it finishes.
          </span>
        ) : field.value === '' ? (
          'The most you pay. A run that needs more continues at no extra cost, up to four times the estimated time. Then it saves its work and stops, and you pay the estimate.'
        ) : resumes ? (
          'The most you pay, including the cost so far. At this limit the run saves its work and stops.'
        ) : (
          'The most you pay. A run that needs more continues at no extra cost up to twice this amount, then saves its work and stops.'
        )
      }
      {...field}
    />
  );
}
