import { Switch as BaseSwitch } from '@base-ui/react/switch';

type Props = { checked: boolean; onChange: (checked: boolean) => void };

/** A choice between on and off, which the `Field` around it names. */
export function Switch({ checked, onChange }: Props) {
  return (
    <BaseSwitch.Root
      checked={checked}
      onCheckedChange={onChange}
      className="flex h-5 w-9 shrink-0 rounded-full bg-control-line p-0.5 transition-colors focus-visible:outline-2 focus-visible:outline-focus focus-visible:outline-offset-2 data-checked:bg-accent"
    >
      <BaseSwitch.Thumb className="size-4 rounded-full bg-surface transition-transform data-checked:translate-x-4" />
    </BaseSwitch.Root>
  );
}
