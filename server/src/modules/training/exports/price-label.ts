/** Label of an export's hours in a quote. */
export const exportPriceLabel = "Export on this machine's CPU, at the price of training there";
