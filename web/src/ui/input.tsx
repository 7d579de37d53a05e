import { Field } from '@base-ui/react/field';
import type { ComponentProps } from 'react';
import { controlClass } from './control-class.ts';

/** One line of text. Inside a `Field` it takes its label, help and error by itself. */
export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <Field.Control {...rest} className={controlClass('h-9 px-3', className)} />;
}
