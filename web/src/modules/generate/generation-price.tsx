import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { requestedPictureCount } from '@bakehouse/contract/generators/parameters/requested-picture-count';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuote } from '../gallery/generation-calls.ts';
import { Price } from '../gallery/view/price.tsx';
import { type FormValues, parameterProblems, requestParameters } from './form/form-values.ts';
import type { NamedProvider } from './form/providers.ts';

type Props = { name: GeneratorName; form: Generator; values: FormValues; named?: NamedProvider };

/** Quotes the settings while they are valid. */
export function useGenerationQuote({ name, form, values, named = {} }: Props, enabled = true) {
  const problems = parameterProblems(form, values);
  const asked = { generator: name, parameters: requestParameters(form, values), ...named };
  return useQuote(asked, enabled && Object.keys(problems).length === 0);
}

type ListProps = {
  each: string;
  values: FormValues;
  /** The session is known; until then a quote may follow. */
  known: boolean;
};

/** A service's price for visitors, who have no quote: the same for each picture. */
export function ListPrice({ each, values, known }: ListProps) {
  const cost = formatBgl(parseBgl(each) * BigInt(requestedPictureCount(values)));
  const quote = { data: known ? { cost } : undefined, isError: false, isSettled: known };
  return <Price quote={quote} />;
}
