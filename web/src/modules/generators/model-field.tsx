import { useNavigate } from '@tanstack/react-router';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';

type Props = {
  /** The person's own deployments. */
  models: readonly { model_name: string; title: string }[];
  /** The one that is chosen, by its name. */
  model: string | undefined;
  /** The service that draws for all, where there is one. */
  service: { title: string } | null;
};

/** No deployment has this name. */
const SERVICE = ':service';

/** Which model draws, where the person has deployed one; it stands in the address. */
export function ModelField({ models, model, service }: Props) {
  const navigate = useNavigate();
  if (models.length === 0) return null;
  const choose = (value: string) =>
    void navigate({
      to: '.',
      search: ({ model: _, ...rest }: Record<string, unknown>) => ({
        ...rest,
        ...(value !== SERVICE && { model: value }),
      }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Field label="Model">
      <Select
        value={model ?? SERVICE}
        onChange={choose}
        options={[
          ...(service ? [{ value: SERVICE, label: service.title, description: 'External service' }] : []),
          ...models.map(({ model_name, title }) => ({
            value: model_name,
            label: title,
            description: 'Your deployment',
          })),
        ]}
      />
    </Field>
  );
}
