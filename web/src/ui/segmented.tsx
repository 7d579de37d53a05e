import { cx } from '../lib/cx.ts';

type Props<Value extends string> = {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: string }[];
  /** Names the group. */
  label: string;
  className?: string;
};

/** Two to four short choices in one strip. */
export function Segmented<Value extends string>({
  value,
  onChange,
  options,
  label,
  className,
}: Props<Value>) {
  return (
    <div
      role="group"
      aria-label={label}
      className={cx('flex w-fit gap-0.5 rounded-lg bg-hover p-0.5', className)}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="h-7 rounded-md px-2.5 font-medium text-[0.8125rem] text-muted hover:text-ink aria-pressed:bg-surface aria-pressed:text-ink aria-pressed:shadow-card"
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
