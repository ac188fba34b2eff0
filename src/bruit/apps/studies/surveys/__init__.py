"""The studies of randomised answers: k-ary randomised response and RAPPOR."""
