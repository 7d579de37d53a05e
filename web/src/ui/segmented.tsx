import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { cx } from '../lib/cx.ts';

type Props<Value extends string> = {
  value: Value;
  onChange: (value: Value) => void;
  /** One that is disabled stays in sight; say beside the strip why. */
  options: readonly { value: Value; label: string; disabled?: boolean }[];
  /** Names the group. */
  label: string;
  className?: string;
};

/** Two to four short choices in one strip, of which one always holds. */
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
      value={[value]}
      // Pressing the chosen one again would leave none.
      onValueChange={([chosen]) => chosen && onChange(chosen)}
      className={cx('flex w-fit gap-0.5 rounded-lg bg-hover p-0.5', className)}
    >
      {options.map((option) => (
        <Toggle
          key={option.value}
          value={option.value}
          disabled={option.disabled}
          className="h-7 rounded-md px-2.5 font-medium text-[0.8125rem] text-muted not-data-disabled:hover:text-ink data-disabled:cursor-not-allowed data-disabled:opacity-50 data-pressed:bg-surface data-pressed:text-ink data-pressed:shadow-card"
        >
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
