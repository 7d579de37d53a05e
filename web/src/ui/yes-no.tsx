import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { segmentClass, segmentsClass } from './segment-class.ts';

type Props = {
  /** Null if nothing is selected. */
  value: boolean | null;
  onChange: (value: boolean | null) => void;
  /** Accessible name of the group. */
  label: string;
};

/** Yes or No. Pressing the selected one again clears it. */
export function YesNo({ value, onChange, label }: Props) {
  return (
    <ToggleGroup
      aria-label={label}
      value={value === null ? [] : [value ? 'yes' : 'no']}
      onValueChange={([chosen]) => onChange(chosen === undefined ? null : chosen === 'yes')}
      className={segmentsClass}
    >
      <Toggle value="yes" className={segmentClass}>
        Yes
      </Toggle>
      <Toggle value="no" className={segmentClass}>
        No
      </Toggle>
    </ToggleGroup>
  );
}
