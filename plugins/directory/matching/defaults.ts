import type { Parameters } from './weights.ts';

/** Estimated by `estimate` on the training split of the synthetic records (`trainedParameters`); a test keeps the two equal. */
export const DEFAULTS: Record<'person' | 'organization', Parameters> = {
  person: {
    prior: 0.9057,
    fields: {
      name: {
        m: { exact: 0.5852, close: 0.3202, partial: 0.0944, disagree: 0.0002 },
        u: { exact: 0.737, close: 0.2239, partial: 0.007, disagree: 0.0322 },
      },
      place: {
        m: { exact: 0.9457, close: 0.0008, partial: 0.0071, disagree: 0.0464 },
        u: { exact: 0.015, close: 0.0026, partial: 0.2203, disagree: 0.7621 },
      },
      website: {
        m: { exact: 0.7606, close: 0.0075, partial: 0.2293, disagree: 0.0026 },
        u: { exact: 0.025, close: 0.022, partial: 0.0741, disagree: 0.8789 },
      },
      email: {
        m: { exact: 0.9346, close: 0.0359, partial: 0.0148, disagree: 0.0146 },
        u: { exact: 0.0072, close: 0.0219, partial: 0.014, disagree: 0.9569 },
      },
      phone: {
        m: { exact: 0.8365, close: 0.0019, partial: 0.0013, disagree: 0.1603 },
        u: { exact: 0.0064, close: 0.0048, partial: 0.0145, disagree: 0.9744 },
      },
      identifier: {
        m: { exact: 0.9779, close: 0.0107, partial: 0.0071, disagree: 0.0042 },
        u: { exact: 0.0191, close: 0.0182, partial: 0.0547, disagree: 0.908 },
      },
      issue_areas: {
        m: { exact: 0.5008, close: 0.0014, partial: 0.1727, disagree: 0.3251 },
        u: { exact: 0.007, close: 0.0045, partial: 0.4298, disagree: 0.5587 },
      },
    },
  },
  organization: {
    prior: 0.98,
    fields: {
      name: {
        m: { exact: 0.7826, close: 0.2167, partial: 0.0004, disagree: 0.0002 },
        u: { exact: 0.6145, close: 0.0095, partial: 0.2448, disagree: 0.1312 },
      },
      place: {
        m: { exact: 0.9405, close: 0.0008, partial: 0.0206, disagree: 0.0381 },
        u: { exact: 0.0148, close: 0.0102, partial: 0.3159, disagree: 0.6592 },
      },
      website: {
        m: { exact: 0.9178, close: 0.0805, partial: 0.0011, disagree: 0.0006 },
        u: { exact: 0.0357, close: 0.0344, partial: 0.0582, disagree: 0.8718 },
      },
      email: {
        m: { exact: 0.6767, close: 0.0254, partial: 0.2749, disagree: 0.023 },
        u: { exact: 0.0274, close: 0.0176, partial: 0.0549, disagree: 0.9002 },
      },
      phone: {
        m: { exact: 0.8024, close: 0.0017, partial: 0.0011, disagree: 0.1947 },
        u: { exact: 0.0277, close: 0.0213, partial: 0.0638, disagree: 0.8873 },
      },
      identifier: {
        m: { exact: 0.9774, close: 0.0113, partial: 0.0075, disagree: 0.0038 },
        u: { exact: 0.0407, close: 0.04, partial: 0.1199, disagree: 0.7994 },
      },
      issue_areas: {
        m: { exact: 0.5046, close: 0.0013, partial: 0.173, disagree: 0.3211 },
        u: { exact: 0.0175, close: 0.0147, partial: 0.4812, disagree: 0.4866 },
      },
    },
  },
};
