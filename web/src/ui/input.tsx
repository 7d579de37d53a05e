import { Field } from '@base-ui/react/field';
import type { ComponentProps } from 'react';
import { controlClass } from './control-class.ts';

/** A single-line text input. Inside a `Field` it is connected to the label, help and error. */
export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <Field.Control {...rest} className={controlClass('h-9 px-3', className)} />;
}
