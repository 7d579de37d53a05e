import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { cx } from '../lib/cx.ts';
import { segmentClass, segmentsClass } from './segment-class.ts';

type Props<Value extends string> = {
  /** Null if none is selected. */
  value: Value | null;
  onChange: (value: Value) => void;
  /** Disabled options stay visible; explain why next to the control. */
  options: readonly { value: Value; label: string; disabled?: boolean }[];
  /** Accessible name of the group. */
  label: string;
  className?: string;
};

/** A segmented control with two to four short options, at most one selected. */
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
      // Ignore a press on the selected segment, which would deselect it.
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
