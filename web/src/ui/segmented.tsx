import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { cx } from '../lib/cx.ts';

/** A segmented control. */
export const segmentsClass = 'flex w-fit gap-0.5 rounded-lg bg-hover p-0.5';

/** One segment. */
export const segmentClass =
  'h-7 rounded-md px-2.5 font-medium text-[0.8125rem] text-muted not-data-disabled:hover:text-ink data-disabled:cursor-not-allowed data-disabled:opacity-50 data-pressed:bg-surface data-pressed:text-ink data-pressed:shadow-card';

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
