"""Click models beside PyClick and clax-models."""
