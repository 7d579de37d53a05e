import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { cx } from '../lib/cx.ts';
import { segmentClass, segmentsClass } from './segment-class.ts';

type Props<Value extends string> = {
  /** Null: none of them. */
  value: Value | null;
  onChange: (value: Value) => void;
  /** One that is disabled stays in sight; say beside the strip why. */
  options: readonly { value: Value; label: string; disabled?: boolean }[];
  /** Names the group. */
  label: string;
  className?: string;
};

/** Two to four short choices in one strip, of which at most one holds. */
export function Segmented<Value extends string>({
  value,
  onChange,
  options,
  label,
  className,
}: Props<Value>) {
  return (
    <ToggleGroup
      aria-label={label}
      value={value === null ? [] : [value]}
      // Pressing the chosen one again would leave none.
      onValueChange={([chosen]) => chosen && onChange(chosen)}
      className={cx(segmentsClass, className)}
    >
      {options.map((option) => (
        <Toggle key={option.value} value={option.value} disabled={option.disabled} className={segmentClass}>
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
