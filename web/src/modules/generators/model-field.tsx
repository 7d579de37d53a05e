import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { Select } from '../../ui/select.tsx';
import { type Drawer, drawerSearch } from './form/drawers.ts';

type Props = {
  /** Who can draw here. */
  drawers: readonly Drawer[];
  /** Who does. */
  drawer: Drawer | undefined;
};

/** Who draws, where there is a choice or a deployment of the person's own; it stands in the address. */
export function ModelField({ drawers, drawer }: Props) {
  const navigate = useNavigate();
  const isOneOfMany = drawers.length > 1 || drawers.some(({ kind }) => kind === 'deployment');
  if (!isOneOfMany) return null;
  const choose = (value: string) =>
    void navigate({
      to: '.',
      search: ({ model: _model, service: _service, ...rest }: Record<string, unknown>) => {
        const chosen = drawers.find((one) => valueOf(one) === value);
        return { ...rest, ...(chosen && drawerSearch(chosen)) };
      },
      replace: true,
      resetScroll: false,
    });
  return (
    <Field label={drawers.every(({ kind }) => kind === 'service') ? 'Service' : 'Model'}>
      <Select
        value={drawer ? valueOf(drawer) : null}
        onChange={choose}
        options={drawers.map((one) => ({
          value: valueOf(one),
          label: one.title,
          description: descriptionOf(one),
        }))}
      />
    </Field>
  );
}

/** A service and a deployment may have one name. */
function valueOf({ kind, name }: Drawer): string {
  return `${kind}:${name}`;
}

function descriptionOf(drawer: Drawer): ReactNode {
  switch (drawer.kind) {
    case 'service':
      return (
        <>
          External service, <Money bgl={drawer.price} /> a picture
        </>
      );
    case 'deployment':
      return 'Your deployment';
    case 'starter':
      return 'On this server, 128 × 128 px';
  }
}
