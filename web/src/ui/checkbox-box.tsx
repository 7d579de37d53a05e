import { Checkbox as Base } from '@base-ui/react/checkbox';
import { Check } from 'lucide-react';

/** A bare checkbox. Must be wrapped in its label. */
export function CheckboxBox(props: Base.Root.Props) {
  return (
    <Base.Root
      {...props}
      className="mt-0.5 flex size-4.5 shrink-0 cursor-pointer items-center justify-center rounded-sm border border-control-line bg-surface focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-focus data-checked:border-accent data-checked:bg-accent data-disabled:opacity-50 data-invalid:not-data-checked:border-bad"
    >
      <Base.Indicator className="text-accent-ink data-unchecked:hidden">
        <Check aria-hidden className="size-3.5" strokeWidth={3} />
      </Base.Indicator>
    </Base.Root>
  );
}
