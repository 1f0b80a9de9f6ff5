import type { Parameters } from './weights.ts';

/** Estimated by `estimate` on the training split of the synthetic records (`trainedParameters`); a test keeps the two equal. */
export const DEFAULTS: Record<'person' | 'organization', Parameters> = {
  person: {
    prior: 0.9026,
    fields: {
      name: {
        m: { exact: 0.5827, close: 0.3119, partial: 0.1052, disagree: 0.0002 },
        u: { exact: 0.7175, close: 0.1987, partial: 0.0529, disagree: 0.031 },
      },
      place: {
        m: { exact: 0.9423, close: 0.0008, partial: 0.0087, disagree: 0.0482 },
        u: { exact: 0.0364, close: 0.0025, partial: 0.2088, disagree: 0.7523 },
      },
      website: {
        m: { exact: 0.7606, close: 0.0075, partial: 0.2293, disagree: 0.0026 },
        u: { exact: 0.0271, close: 0.0219, partial: 0.075, disagree: 0.876 },
      },
      email: {
        m: { exact: 0.9368, close: 0.0362, partial: 0.0148, disagree: 0.0122 },
        u: { exact: 0.0069, close: 0.0194, partial: 0.0135, disagree: 0.9602 },
      },
      phone: {
        m: { exact: 0.8386, close: 0.0019, partial: 0.0013, disagree: 0.1582 },
        u: { exact: 0.0062, close: 0.0048, partial: 0.0143, disagree: 0.9748 },
      },
      identifier: {
        m: { exact: 0.9778, close: 0.0107, partial: 0.0071, disagree: 0.0043 },
        u: { exact: 0.0175, close: 0.0167, partial: 0.0501, disagree: 0.9156 },
      },
      issue_areas: {
        m: { exact: 0.4999, close: 0.0014, partial: 0.1715, disagree: 0.3272 },
        u: { exact: 0.0067, close: 0.0044, partial: 0.4189, disagree: 0.5701 },
      },
    },
  },
  organization: {
    prior: 0.9794,
    fields: {
      name: {
        m: { exact: 0.7709, close: 0.2201, partial: 0.0088, disagree: 0.0002 },
        u: { exact: 0.6156, close: 0.0093, partial: 0.2471, disagree: 0.128 },
      },
      place: {
        m: { exact: 0.9408, close: 0.0008, partial: 0.0206, disagree: 0.0379 },
        u: { exact: 0.0245, close: 0.01, partial: 0.3106, disagree: 0.6549 },
      },
      website: {
        m: { exact: 0.9177, close: 0.0806, partial: 0.0011, disagree: 0.0006 },
        u: { exact: 0.0655, close: 0.0335, partial: 0.0564, disagree: 0.8447 },
      },
      email: {
        m: { exact: 0.6769, close: 0.0254, partial: 0.275, disagree: 0.0227 },
        u: { exact: 0.0277, close: 0.0175, partial: 0.0548, disagree: 0.9 },
      },
      phone: {
        m: { exact: 0.8026, close: 0.0017, partial: 0.0011, disagree: 0.1945 },
        u: { exact: 0.0279, close: 0.0211, partial: 0.0632, disagree: 0.8879 },
      },
      identifier: {
        m: { exact: 0.9773, close: 0.0113, partial: 0.0075, disagree: 0.0038 },
        u: { exact: 0.0408, close: 0.04, partial: 0.1199, disagree: 0.7993 },
      },
      issue_areas: {
        m: { exact: 0.505, close: 0.0013, partial: 0.1726, disagree: 0.3211 },
        u: { exact: 0.0172, close: 0.0143, partial: 0.4857, disagree: 0.4827 },
      },
    },
  },
};
