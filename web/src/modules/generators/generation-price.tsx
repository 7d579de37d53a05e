import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { picturesAsked } from '@bakehouse/contract/generators/parameters/pictures-asked';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { useQuote } from '../generations/generation-calls.ts';
import { Price } from '../generations/view/price.tsx';
import { type FormValues, parameterProblems, requestParameters } from './form/form-values.ts';
import type { NamedProvider } from './form/providers.ts';

type Props = { name: GeneratorName; form: Generator; values: FormValues; named?: NamedProvider };

/** What the settings cost, while they can be asked for. */
export function useGenerationQuote({ name, form, values, named = {} }: Props, enabled = true) {
  const problems = parameterProblems(form, values);
  const asked = { generator: name, parameters: requestParameters(form, values), ...named };
  return useQuote(asked, enabled && Object.keys(problems).length === 0);
}

/** The same beside a button that leads on. */
export function GenerationPrice(props: Props) {
  return <Price quote={useGenerationQuote(props)} />;
}

type ListProps = {
  each: string;
  values: FormValues;
  /** Whether it is known who is signed in: until then there may be a quote to come. */
  known: boolean;
};

/** What a visitor would pay to a service, which asks the same for each picture; only who is signed in has a quote. */
export function ListPrice({ each, values, known }: ListProps) {
  const cost = formatBgl(parseBgl(each) * BigInt(picturesAsked(values)));
  const quote = { data: known ? { cost } : undefined, isError: false, isSettled: known };
  return <Price quote={quote} />;
}
