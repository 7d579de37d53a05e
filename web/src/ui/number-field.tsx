import { NumberField as Base } from '@base-ui/react/number-field';
import { Minus, Plus } from 'lucide-react';
import { controlClass } from './control-class.ts';

type Props = {
  value: number | null;
  /** Null while the field is empty. */
  onChange: (value: number | null) => void;
  min?: number;
  max?: number;
  step?: number;
  disabled?: boolean;
  /** Most digits after the point; 6 unless said. */
  maxDecimals?: number;
};

const stepButton =
  'flex h-full w-8 items-center justify-center text-muted hover:bg-hover hover:text-ink disabled:opacity-40 [&_svg]:size-3.5';

/**
 * A number that can be typed, stepped with the buttons and the arrow keys (Shift: ten steps). Steps stay inside
 * the bounds; what is typed outside of them stays as typed, for the form to say so.
 */
export function NumberField({ value, onChange, min, max, step = 1, disabled, maxDecimals = 6 }: Props) {
  return (
    <Base.Root
      value={value}
      onValueChange={onChange}
      min={min}
      max={max}
      allowOutOfRange
      step={step}
      largeStep={step * 10}
      disabled={disabled}
      format={{ maximumFractionDigits: maxDecimals, useGrouping: false }}
      locale="en"
    >
      <Base.Group
        className={controlClass(
          'flex h-9 items-center overflow-hidden focus-within:border-focus focus-within:outline-2 focus-within:outline-focus/35',
        )}
      >
        <Base.Input className="h-full min-w-0 flex-1 bg-transparent px-3 tabular-nums outline-none" />
        <Base.Decrement aria-label="Decrease" className={stepButton}>
          <Minus aria-hidden />
        </Base.Decrement>
        <Base.Increment aria-label="Increase" className={stepButton}>
          <Plus aria-hidden />
        </Base.Increment>
      </Base.Group>
    </Base.Root>
  );
}
