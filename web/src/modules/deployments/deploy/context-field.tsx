import { useQuery } from '@tanstack/react-query';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { useUser } from '../../accounts/session.ts';
import { contextChoices } from './context-choices.ts';
import { type DeploymentRequest, quoteQuery } from './use-deploy.ts';

type Props = { request: DeploymentRequest; onChange: (contextTokens: number) => void };

/** The context size of a text model; renders nothing for other kinds. */
export function ContextField({ request: { contextTokens, ...request }, onChange }: Props) {
  const { data: usual } = useQuery(quoteQuery(request, useUser().id));
  if (!usual?.context_tokens) return null;
  const choices = contextChoices({ usual: usual.context_tokens, max: usual.context_tokens_max ?? null });
  return (
    <Field label="Context" help="Prompt and answer together. A larger context needs more memory.">
      <Select
        value={String(contextTokens ?? usual.context_tokens)}
        onChange={(tokens) => onChange(Number(tokens))}
        options={choices.map((tokens) => ({
          value: String(tokens),
          label: `${formatNumber(tokens)} tokens`,
        }))}
      />
    </Field>
  );
}
