import { isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showApart } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';

type Props = {
  /** In BGL; empty: the usual one; what is no amount stays as it was typed. */
  value: string;
  /** The ceiling where none is typed, in BGL; null: it is that of several runs, each of which has another. */
  usual: string | null;
  /** What the run, or the dearest of several, is expected to cost, in BGL: the usual ceiling does not look the same, and a lower one is warned of. */
  expected?: string;
  /** Whether the run goes on: then it stops there. */
  resumes?: boolean;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most, typed in the chosen currency. */
export function CeilingField({ usual, expected = '0', resumes = false, ...field }: Props) {
  const currency = currencyChoice.use();
  const isOfEach = usual === null;
  const isTooLow = isPositiveBgl(field.value) && parseBgl(field.value) < parseBgl(expected);
  return (
    <AmountField
      label="Ceiling"
      {...(isOfEach ? { per: 'per run' } : { placeholder: showApart(usual, expected, currency)[0] })}
      help={
        isTooLow ? (
          <span role="status" className="text-warn">
            This is less than the {showApart(expected, field.value, currency)[0]} that{' '}
            {isOfEach ? 'the most expensive run' : 'the run'} is expected to cost: it will probably save its
            work and stop before it is done.
          </span>
        ) : isOfEach ? (
          'You pay at most this for each run. Left empty, it is half more than the run’s own estimate.'
        ) : resumes ? (
          'You pay at most this, with what the run has cost so far. There it saves its work and stops.'
        ) : (
          'You pay at most this. A run that needs more goes on free for as much again, then saves its work and stops.'
        )
      }
      {...field}
    />
  );
}
