import { useShowAmount } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';

type Props = {
  /** In BGL; empty: the usual one; what is no amount stays as it was typed. */
  value: string;
  /** The ceiling where none is typed, in BGL. */
  usual: string;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most, typed in the chosen currency. */
export function CeilingField({ usual, ...field }: Props) {
  const show = useShowAmount();
  return (
    <AmountField
      label="Ceiling"
      placeholder={show(usual)}
      help="At this cost the run saves its work and stops. You can resume it with a higher ceiling."
      {...field}
    />
  );
}
