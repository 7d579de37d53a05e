/** What is shown, and beside it what is said of it. */
export const columnsClass = 'grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,22rem)]';
